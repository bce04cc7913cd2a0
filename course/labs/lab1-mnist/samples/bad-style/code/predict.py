import argparse,os,sys
from pathlib import Path
import torch
from model import *
def main( ) :
  p=argparse.ArgumentParser()
  p.add_argument('--data',type=Path);p.add_argument('--model',type=Path);p.add_argument('--out',type=Path)
  a=p.parse_args()
  m=Net();m.load_state_dict(torch.load(a.model/'model.pt'));m.eval()
  X=read_images(a.data/'test-images-idx3-ubyte');R=[ ]
  with torch.no_grad():
    for b in X.split(500): R+=m(b).argmax(1).tolist()
  f=open(a.out/'predictions.csv','w');f.write('id,label\n')
  for i in range(len(R)): f.write(str(i)+','+str(R[i])+'\n')
  f.close( )
main( )
