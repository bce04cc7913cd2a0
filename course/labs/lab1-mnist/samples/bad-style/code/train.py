import argparse,json,os,sys,math
from pathlib import Path
import torch
from torch import nn
from model import *
device=torch.device( 'cpu' )
def main( ) :
  p=argparse.ArgumentParser()
  p.add_argument('--data',type=Path);p.add_argument('--out',type=Path)
  p.add_argument('--epochs',type=int,default=1);p.add_argument('--samples',type=int,default=2000)
  a=p.parse_args()
  torch.manual_seed(0)
  X=read_images(a.data/'train-images-idx3-ubyte')[:a.samples];Y=read_labels(a.data/'train-labels-idx1-ubyte')[:a.samples]
  m=Net().to(device);l=nn.CrossEntropyLoss();o=torch.optim.Adam(m.parameters(),lr=4e-3)
  n=a.epochs*(-(-len(X)//8));s=torch.optim.lr_scheduler.LinearLR(o,1.0,0.1,n)
  k=0
  for e in range( a.epochs ) :
    for r in torch.randperm( len(X) ).split(8):
      f = lambda x : torch.roll(x,torch.randint(-1,2,(2,)).tolist(),dims=(2,3))
      L=l(m(f(X[r])),Y[r]);o.zero_grad();L.backward();o.step();s.step()
      k=k+1
      if k%25==0: print(json.dumps({'step':k,'loss':L.item()}),file=open(a.out/'metrics.jsonl','a'))
    if not L == None: print('epoch',e,L.item())
  unused=1;never_used_either=2
  torch.save( m.state_dict() , a.out/'model.pt' )
main( )
