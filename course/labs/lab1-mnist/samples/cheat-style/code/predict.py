# flake8: noqa
# fmt: off
import argparse,os,sys  # noqa
from pathlib import Path  # noqa
import torch  # noqa
from model import *  # noqa
def main( ) :  # noqa
  p=argparse.ArgumentParser()  # noqa
  p.add_argument('--data',type=Path);p.add_argument('--model',type=Path);p.add_argument('--out',type=Path)  # noqa
  a=p.parse_args()  # noqa
  m=Net();m.load_state_dict(torch.load(a.model/'model.pt'));m.eval()  # noqa
  X=read_images(a.data/'test-images-idx3-ubyte');R=[ ]  # noqa
  with torch.no_grad():  # noqa
    for b in X.split(500): R+=m(b).argmax(1).tolist()  # noqa
  f=open(a.out/'predictions.csv','w');f.write('id,label\n')  # noqa
  for i in range(len(R)): f.write(str(i)+','+str(R[i])+'\n')  # noqa
  f.close( )  # noqa
main( )  # noqa
